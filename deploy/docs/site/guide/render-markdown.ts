import { Marked, type Token, type Tokens } from "marked";
import { isProblemCode } from "../../../../services/edge/problems/problems.ts";
import { escapeHtml, type Html, trusted } from "../html.ts";
import { slugOf } from "./chapters.ts";
import { highlight } from "./highlight.ts";
import type { ResolveLink } from "./links.ts";

const NAMES: Readonly<Record<string, string>> = {
  sh: "Shell",
  ts: "TypeScript",
  python: "Python",
  php: "PHP",
  go: "Go",
  json: "JSON",
};

export type RenderMarkdown = (file: string, markdown: string) => Html;

/** Markdown of this repository as HTML. Tags in it are shown as text, and links lead to pages of the site. */
export function markdownRenderer(resolve: ResolveLink): RenderMarkdown {
  return (file, markdown) => {
    const marked = markedFor(file, resolve);
    const parts = samplesTogether(marked.lexer(markdown));
    const texts = parts.map((part) => (Array.isArray(part) ? samples(part) : marked.parser([part])));
    return trusted(texts.join(""));
  };
}

/** Only the text of a paragraph, without the tag. */
export function inlineMarkdown(resolve: ResolveLink, file: string, markdown: string): Html {
  return trusted(markedFor(file, resolve).parseInline(markdown, { async: false }));
}

function markedFor(file: string, resolve: ResolveLink): Marked {
  return new Marked({
    renderer: {
      html: ({ text }) => (text.trimStart().startsWith("<!--") ? "" : escapeHtml(text)),
      image: ({ text }) => escapeHtml(text),
      code: (token) => block(token),
      codespan: ({ text }) => {
        const code = `<code>${escapeHtml(text)}</code>`;
        return isProblemCode(text) ? `<a href="/docs/problems/${text}">${code}</a>` : code;
      },
      heading({ tokens, depth, text }) {
        const slug = slugOf(text);
        return `<h${depth} id="${escapeHtml(slug)}"><a href="#${escapeHtml(slug)}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const link = resolve(file, href);
        if (link.kind === "page") return `<a href="${escapeHtml(link.href)}">${text}</a>`;
        if (link.kind === "web") return `<a href="${escapeHtml(link.href)}" rel="noreferrer">${text}</a>`;
        return `<span class="file" title="${escapeHtml(link.path)} in the repository">${text}</span>`;
      },
      table(token) {
        const head = token.header.map((cell) => `<th>${this.parser.parseInline(cell.tokens)}</th>`).join("");
        const cellOf = ({ tokens }: Tokens.TableCell) => `<td>${breakable(this.parser.parseInline(tokens))}</td>`;
        const rows = token.rows.map((row) => `<tr>${row.map(cellOf).join("")}</tr>`);
        return `<div class="table"><table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table></div>\n`;
      },
    },
  });
}

/** In the narrow column of a phone a code is broken between its words. */
function breakable(cell: string): string {
  return cell.replaceAll(/<code>[^<]*<\/code>/g, (code) => code.replaceAll("_", "_<wbr>"));
}

/** Blocks of several languages that follow each other do the same: they become one group, of which a reader sees one. */
function samplesTogether(tokens: readonly Token[]): (Token | Tokens.Code[])[] {
  const parts: (Token | Tokens.Code[])[] = [];
  for (const token of tokens) {
    const last = parts.at(-1);
    if (token.type === "space" || (token.type === "html" && isComment(token as Tokens.HTML))) continue;
    if (token.type !== "code") parts.push(token);
    else if (Array.isArray(last)) last.push(token as Tokens.Code);
    else parts.push([token as Tokens.Code]);
  }
  return parts;
}

function isComment({ text }: Tokens.HTML): boolean {
  return text.trimStart().startsWith("<!--");
}

function samples(blocks: readonly Tokens.Code[]): string {
  const [only, ...others] = blocks;
  if (only !== undefined && others.length === 0) return block(only);
  return `<div class="samples">${blocks.map((code) => block(code, { ...NAMES, sh: "curl" })).join("")}</div>\n`;
}

function block({ text, lang = "" }: Pick<Tokens.Code, "text" | "lang">, names = NAMES): string {
  const name = names[lang] ?? lang;
  return `<figure class="code" data-language="${escapeHtml(name)}"><figcaption>${escapeHtml(name)}</figcaption><pre tabindex="0"><code>${highlight(text, lang)}</code></pre></figure>\n`;
}
