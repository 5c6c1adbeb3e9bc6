import { expect, test } from "vitest";
import { splitPage } from "./chapters.ts";
import { highlight } from "./highlight.ts";
import { linksBetween } from "./links.ts";
import { markdownRenderer } from "./render-markdown.ts";

const PAGE =
  "# Guide\n\nHello.\n\n## One & only\n\nText.\n\n```sh\n## not a heading\n```\n\n### Part\n\n## Two\n\nMore.";
const { introduction, chapters } = splitPage("docs/guide.md", PAGE);
const resolve = linksBetween(chapters, "docs/guide.md");
const render = (markdown: string) => markdownRenderer(resolve)("docs/guide.md", markdown).html.trim();

test("a page is divided at its second-level headings, not at lines of code", () => {
  expect(introduction).toBe("Hello.");
  expect(chapters.map(({ slug, title }) => [slug, title])).toEqual([
    ["one--only", "One & only"],
    ["two", "Two"],
  ]);
});

test.each([
  ["#two", '<a href="/docs/guide/two">x</a>'],
  ["#part", '<a href="/docs/guide/one--only#part">x</a>'],
  ["../docs/guide.md#two", '<a href="/docs/guide/two">x</a>'],
  ["guide.md", '<a href="/docs">x</a>'],
  ["https://example.com/?a=1&b=2", '<a href="https://example.com/?a=1&amp;b=2" rel="noreferrer">x</a>'],
  ["../deploy/notes.md#top", '<span class="file" title="deploy/notes.md in the repository">x</span>'],
  ["javascript:alert(1)", '<span class="file" title="docs/javascript:alert(1) in the repository">x</span>'],
])("a link to %s", (target, wanted) => {
  expect(render(`[x](${target})`)).toBe(`<p>${wanted}</p>`);
});

test("a code in a table may be broken between its words, so that columns fit on a phone; elsewhere it is whole", () => {
  expect(render("| a |\n|---|\n| `operation_id` |")).toContain("<td><code>operation_<wbr>id</code></td>");
  expect(render("`operation_id`")).toBe("<p><code>operation_id</code></p>");
});

test("tags are shown as text, and comments and images are not part of the page", () => {
  const text = render(
    "<script>alert(1)</script>\n\n<!-- run: system -->\n\na <b onclick='x'>b</b> `<i>` ![c](https://example.com/p.png)",
  );

  expect(text).not.toMatch(/<(?!\/?(?:p|code)>)|run: system/);
  expect(text).toContain("&lt;script&gt;");
});

test("the name of a problem code leads to its page", () => {
  expect(render("`rate_limited` `other`")).toBe(
    '<p><a href="/docs/problems/rate_limited"><code>rate_limited</code></a> <code>other</code></p>',
  );
});

test("blocks of several languages are one group, a single one is not", () => {
  const group = render("<!-- not run: it is an example -->\n\n```sh\ncurl\n```\n\n```ts\nlet a;\n```");

  expect(group.match(/class="samples"/g)).toHaveLength(1);
  expect(group.match(/data-language="(\w+)"/g)).toEqual(['data-language="curl"', 'data-language="TypeScript"']);
  expect(render("```sh\nls\n```")).not.toContain("samples");
});

test("comments, strings and keywords are marked, and everything is escaped", () => {
  expect(highlight("return '<b>' // it's", "ts")).toBe(
    '<span class="word">return</span> <span class="string">&#39;&lt;b&gt;&#39;</span> <span class="comment">// it&#39;s</span>',
  );
  expect(highlight("a <b>", "")).toBe("a &lt;b&gt;");
});
