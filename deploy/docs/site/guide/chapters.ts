/** A part of the guide that has a page of its own. */
export type Chapter = {
  /** Path of its file from the root of the repository. */
  readonly file: string;
  readonly slug: string;
  readonly title: string;
  readonly markdown: string;
};

/** The second-level headings of docs/integrate.md are chapters; what comes before them introduces the guide. */
export function splitPage(file: string, markdown: string): { introduction: string; chapters: Chapter[] } {
  const [head = "", ...sections] = outsideOfBlocks(markdown, /^## /);
  const introduction = head.split("\n\n").filter((text) => !text.trim().startsWith("# "));
  return { introduction: introduction.join("\n\n").trim(), chapters: sections.map((text) => chapterOf(file, text)) };
}

/** A page that is one chapter. */
export function wholePage(file: string, markdown: string): Chapter {
  return chapterOf(file, markdown);
}

function chapterOf(file: string, text: string): Chapter {
  const [heading = "", ...rest] = text.trimStart().split("\n");
  const title = heading.replace(/^#+ /, "").trim();
  return { file, slug: slugOf(title), title, markdown: rest.join("\n").trim() };
}

/** The anchor that GitHub gives a heading, so that links in the repository and on the site agree. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

/** Splits before each line that matches and is not part of a fenced block. */
function outsideOfBlocks(text: string, start: RegExp): string[] {
  const parts: string[][] = [[]];
  let isInBlock = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isInBlock = !isInBlock;
    if (!isInBlock && start.test(line)) parts.push([]);
    parts.at(-1)?.push(line);
  }
  return parts.map((lines) => lines.join("\n"));
}
