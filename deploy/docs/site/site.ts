import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DocumentedRoute } from "../../../services/edge/api/exchange.ts";
import { type Chapter, splitPage, wholePage } from "./guide/chapters.ts";
import { GUIDE, linksBetween } from "./guide/links.ts";
import { inlineMarkdown, markdownRenderer } from "./guide/render-markdown.ts";
import { type Html, html } from "./html.ts";
import { layout, TITLE } from "./layout.ts";
import { CODES } from "../../../services/edge/problems/problems.ts";
import { PROBLEM_PAGES, problemIndex, problemPage, type ProblemTexts } from "./problems/problem-pages.ts";

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

type Page = { readonly title: string; readonly content: Html };
type Site = { readonly pages: readonly (readonly [path: string, html: string])[]; readonly notFound: string };

/** Every page of the guide and of the problem codes. */
export function buildSite(routes: readonly DocumentedRoute[], assetUrl: (name: string) => string): Site {
  const { introduction, chapters } = readChapters();
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
  const framed = (path: string, page: Page): string => layout({ path, ...page, chapters: items, assetUrl }).html;
  return { pages: [...pages].map(([path, page]) => [path, framed(path, page)]), notFound: framed("", NOT_FOUND) };
}

/** Of the Markdown files of this repository. The introduction has a table of the pages. */
function readChapters(): { introduction: string; chapters: readonly Chapter[] } {
  const read = (file: string): string => readFileSync(join(import.meta.dirname, "../../..", file), "utf8");
  const { introduction, chapters } = splitPage(GUIDE_FILE, read(GUIDE_FILE));
  const files = PAGE_NAMES.map((name) => `docs/integrate/${name}.md`);
  return { introduction, chapters: [...chapters, ...files.map((file) => wholePage(file, read(file)))] };
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

const NOT_FOUND: Page = {
  title: "Page not found",
  content: html`<h1>Page not found</h1>
    <p>The documentation has no page at this address. <a href="/docs">Begin at the guide</a>.</p>`,
};
