import { readFileSync } from "node:fs";
import type { Route } from "../../http/route.ts";
import { type Chapter, splitPage, wholePage } from "./guide/chapters.ts";
import { GUIDE, linksBetween } from "./guide/links.ts";
import { inlineMarkdown, markdownRenderer } from "./guide/render-markdown.ts";
import { type Html, html } from "./html.ts";
import { layout, TITLE } from "./layout.ts";
import { CODES, PROBLEM_PAGES, problemIndex, problemPage, type ProblemTexts } from "./problems/problem-pages.ts";

const GUIDE_FILE = "docs/integrate.md";
/** Each is a chapter, in this order. */
const PAGE_NAMES = [
  "client-code",
  "webhooks",
  "money",
  "errors",
  "conventions",
  "pools",
  "statements",
  "testing",
] as const;

/** A Markdown file of the site, the same that is read in the repository. */
type Source = { readonly file: string; readonly markdown: string };
export type Sources = { readonly guide: Source; readonly pages: readonly Source[] };

export function readSources(): Sources {
  const read = (file: string): Source => ({
    file,
    markdown: readFileSync(new URL(`../../../../${file}`, import.meta.url), "utf8"),
  });
  return { guide: read(GUIDE_FILE), pages: PAGE_NAMES.map((name) => read(`docs/integrate/${name}.md`)) };
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
  const texts: ProblemTexts = { routes, inline };
  const items = chapters.map(({ slug, title }) => ({ href: `${GUIDE}/${slug}`, title }));

  const pages = new Map<string, Page>([
    ["/docs", { title: TITLE, content: homePage(render(GUIDE_FILE, introduction)) }],
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

/** The introduction has a table of the pages. */
function chaptersOf({ guide, pages }: Sources): { introduction: string; chapters: readonly Chapter[] } {
  const { introduction, chapters } = splitPage(guide.file, guide.markdown);
  return { introduction, chapters: [...chapters, ...pages.map(({ file, markdown }) => wholePage(file, markdown))] };
}

function homePage(introduction: Html): Html {
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
    </ul>`;
}

export const NOT_FOUND: Page = {
  title: "Page not found",
  content: html`<h1>Page not found</h1>
    <p>The documentation has no page at this address. <a href="/docs">Begin at the guide</a>.</p>`,
};
