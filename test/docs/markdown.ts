import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** A fenced block, with the HTML comment before it, which marks whether a test runs it. */
export type Block = {
  readonly file: string;
  /** Of the opening fence, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly comment: string | undefined;
};

export type Link = { readonly file: string; readonly line: number; readonly target: string };

const IGNORED = new Set(["node_modules", "gen", ".git", ".cache", ".state"]);
const FENCE = /^(`{3,})\s*([a-z]*)\s*$/;
const COMMENT = /^<!--\s*(.*?)\s*-->$/;

/** Paths of all Markdown files, relative to the root. */
export function markdownFiles(folder = ""): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return IGNORED.has(entry.name) ? [] : markdownFiles(path);
      return entry.name.endsWith(".md") ? [path] : [];
    });
}

export function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

export function blocksOf(file: string, text = read(file)): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; fence: string; language: string; comment: string | undefined; lines: string[] } | undefined;
  let previous = "";
  for (const [index, line] of text.split("\n").entries()) {
    const [, fence, language = ""] = FENCE.exec(line) ?? [];
    if (open !== undefined && line === open.fence) {
      blocks.push({
        file,
        line: open.line,
        language: open.language,
        comment: open.comment,
        text: open.lines.join("\n"),
      });
      open = undefined;
    } else if (open !== undefined) open.lines.push(line);
    else if (fence !== undefined) {
      open = { line: index + 1, fence, language, comment: COMMENT.exec(previous)?.[1], lines: [] };
    }
    if (line.trim() !== "") previous = line.trim();
  }
  return blocks;
}

/** The text with its fenced blocks emptied, so that line numbers stay the same. */
export function prose(text: string): string {
  let fence: string | undefined;
  return text
    .split("\n")
    .map((line) => {
      const [, found] = FENCE.exec(line) ?? [];
      if (fence === undefined && found === undefined) return line;
      if (fence === undefined) fence = found;
      else if (line === fence) fence = undefined;
      return "";
    })
    .join("\n");
}

/** Targets of links and images, without those to the web. */
export function linksOf(file: string, text = read(file)): Link[] {
  return prose(text)
    .split("\n")
    .flatMap((line, index) =>
      [...line.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({ file, line: index + 1, target })),
    )
    .filter(({ target }) => !/^[a-z]+:/.test(target));
}

/** The anchors that GitHub derives from headings. */
export function anchorsOf(text: string): Set<string> {
  const headings = prose(text).matchAll(/^#{1,6} (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(" ", "-"),
    ),
  );
}

/** Texts between single backticks. */
export function codeSpansOf(text: string): string[] {
  return [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
}
