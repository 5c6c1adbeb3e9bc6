import { readFileSync } from "node:fs";
import type { Route } from "../route.ts";
import { type Chapter, splitPage, wholePage } from "./guide/chapters.ts";
import { GUIDE, linksBetween } from "./guide/links.ts";
import { inlineMarkdown, markdownRenderer } from "./guide/render-markdown.ts";
import { type Html, html } from "./html.ts";
import { layout, TITLE } from "./layout.ts";
import { meaningsOf } from "./problems/meanings.ts";
import { CODES, PROBLEM_PAGES, problemIndex, problemPage, type ProblemTexts } from "./problems/problem-pages.ts";

const GUIDE_FILE = "docs/integrate.md";
const SAMPLES_FILE = "docs/integrate/client-code.md";

/** The Markdown of the site: the same files that are read in the repository. */
export type Sources = { readonly guide: string; readonly samples: string };

export function readSources(): Sources {
  const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  return { guide: read(GUIDE_FILE), samples: read(SAMPLES_FILE) };
}

export type Page = { readonly title: string; readonly content: Html };
export type Site = {
  readonly pages: ReadonlyMap<string, Page>;
  /** A page in the frame of the site. */
  readonly framed: (path: string, page: Page) => Html;
};

/** Every page of the guide and of the problem codes, by path. */
export function buildSite(sources: Sources, routes: readonly Route[], assetUrl: (name: string) => string): Site {
  const { introduction, chapters } = chaptersOf(sources);
  const resolve = linksBetween(chapters, GUIDE_FILE);
  const render = markdownRenderer(resolve);
  const inline = (markdown: string): Html => inlineMarkdown(resolve, GUIDE_FILE, markdown);
  const texts: ProblemTexts = { meanings: meaningsOf(sources.guide), routes, inline };
  const items = chapters.map(({ slug, title }) => ({ href: `${GUIDE}/${slug}`, title }));

  const pages = new Map<string, Page>([
    ["/docs", { title: TITLE, content: homePage(render(GUIDE_FILE, introduction), chapters) }],
    [PROBLEM_PAGES, { title: "Problem codes", content: problemIndex(texts) }],
  ]);
  for (const { file, slug, title, markdown } of chapters) {
    pages.set(`${GUIDE}/${slug}`, {
      title,
      content: html`<h1>${title}</h1>
        ${render(file, markdown)}`,
    });
  }
  for (const code of CODES) {
    pages.set(`${PROBLEM_PAGES}/${code}`, { title: code, content: problemPage(code, texts) });
  }
  return { pages, framed: (path, page) => layout({ path, ...page, chapters: items, assetUrl }) };
}

/** The code samples come after the first chapter, which they repeat in other languages. */
function chaptersOf({ guide, samples }: Sources): { introduction: string; chapters: readonly Chapter[] } {
  const { introduction, chapters } = splitPage(GUIDE_FILE, guide);
  const [first, ...others] = chapters;
  if (first === undefined) throw new Error(`${GUIDE_FILE} has no chapters`);
  return { introduction, chapters: [first, wholePage(SAMPLES_FILE, samples), ...others] };
}

function homePage(introduction: Html, chapters: readonly Chapter[]): Html {
  const cards = chapters.map(
    ({ slug, title }) =>
      html`<li>
        <a href="${GUIDE}/${slug}"><strong>${title}</strong></a>
      </li>`,
  );
  return html`<h1>${TITLE}</h1>
    ${introduction}
    <ul class="cards">
      <li>
        <a href="/docs/reference"
          ><strong>Reference</strong><span>Every route, with samples and a form to try it</span></a
        >
      </li>
      <li>
        <a href="/docs/problems"><strong>Problem codes</strong><span>What each error means and what to do</span></a>
      </li>
      <li>
        <a href="/openapi.json"><strong>OpenAPI document</strong><span>For generators of clients</span></a>
      </li>
      <li>
        <a href="/docs/postman.json"
          ><strong>Postman collection</strong><span>Every request with its example, to be imported</span></a
        >
      </li>
    </ul>
    <h2>Guide</h2>
    <ul class="cards">
      ${cards}
    </ul>`;
}

export const NOT_FOUND: Page = {
  title: "Page not found",
  content: html`<h1>Page not found</h1>
    <p>The documentation has no page at this address. <a href="/docs">Begin at the guide</a>.</p>`,
};
