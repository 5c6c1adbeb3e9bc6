import { escapeHtml } from "../html.ts";

const WORDS =
  "async|await|break|case|catch|class|const|continue|def|elif|else|except|export|extends|finally|for|from|function|if|import|in|instanceof|is|let|new|not|null|or|pass|public|raise|readonly|return|static|throw|true|try|type|undefined|use|while|with|None|True|False";

/** Comments first, so that an apostrophe in one begins no string. */
const TOKENS: Readonly<Record<string, RegExp>> = {
  sh: tokens(String.raw`(?<=^|\s)#[^\n]*`, "for|do|done|if|then|fi|while|in"),
  ts: tokens(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`, WORDS),
  python: tokens(String.raw`#[^\n]*|"""[\s\S]*?"""`, WORDS),
  php: tokens(String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`, `${WORDS}|require|fn|int|string|array`),
  go: tokens(String.raw`\/\/[^\n]*`, `${WORDS}|package|func|var|type|struct|range|defer|nil`),
  json: tokens("(?!)", "true|false|null"),
};

function tokens(comment: string, words: string): RegExp {
  const string = String.raw`"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\x60(?:[^\x60\\]|\\[\s\S])*\x60`;
  return new RegExp(`(?<comment>${comment})|(?<string>${string})|(?<word>\\b(?:${words})\\b)`, "gm");
}

/** The code as HTML, with its comments, strings and keywords marked. */
export function highlight(code: string, language: string): string {
  const pattern = TOKENS[language];
  if (pattern === undefined) return escapeHtml(code);
  let end = 0;
  let marked = "";
  for (const { 0: text, index, groups = {} } of code.matchAll(pattern)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? "word";
    marked += `${escapeHtml(code.slice(end, index))}<span class="${kind}">${escapeHtml(text)}</span>`;
    end = index + text.length;
  }
  return marked + escapeHtml(code.slice(end));
}
