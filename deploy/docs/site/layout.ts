import { type Html, html } from "./html.ts";

export const TITLE = "PAMM Integration Service";

export type NavigationItem = { readonly href: string; readonly title: string };

export type Layout = {
  readonly path: string;
  readonly title: string;
  readonly content: Html;
  readonly chapters: readonly NavigationItem[];
  readonly assetUrl: (name: string) => string;
};

const SECTIONS: readonly NavigationItem[] = [
  { href: "/docs", title: "Guide" },
  { href: "/docs/reference", title: "Reference" },
  { href: "/docs/problems", title: "Problems" },
];

export function layout({ path, title, content, chapters, assetUrl }: Layout): Html {
  const index = chapters.findIndex(({ href }) => href === path);
  const items = html`<ul>
    ${chapters.map((item) => html`<li>${linkTo(item, path)}</li>`)}
  </ul>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        ${head(title, assetUrl)}
        <script src="${assetUrl("site.js")}" defer></script>
      </head>
      <body>
        ${topBar(path)}
        <div class="columns">
          <nav class="chapters" aria-label="Chapters">${items}</nav>
          <details class="chapters-menu">
            <summary>Chapters</summary>
            ${items}
          </details>
          <main>${content} ${index < 0 ? [] : neighbours(chapters[index - 1], chapters[index + 1])}</main>
        </div>
      </body>
    </html> `;
}

export function head(title: string, assetUrl: (name: string) => string): Html {
  return html`<meta charset="utf-8" /><title>${title === TITLE ? TITLE : `${title} · ${TITLE}`}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" /><meta
      name="color-scheme"
      content="light dark"
    />
    <link rel="icon" href="${assetUrl("icon.svg")}" type="image/svg+xml" /><link
      rel="stylesheet"
      href="${assetUrl("site.css")}"
    />`;
}

export function topBar(path: string): Html {
  const section = SECTIONS.findLast(({ href }) => path === href || path.startsWith(`${href}/`))?.href ?? "";
  return html`<header class="bar">
    <a class="name" href="/docs">PAMM <span>Integration Service</span></a>
    <nav aria-label="Sections">${SECTIONS.map((item) => linkTo(item, section))}</nav>
  </header>`;
}

function linkTo({ href, title }: NavigationItem, current: string): Html {
  return href === current
    ? html`<a href="${href}" aria-current="page">${title}</a>`
    : html`<a href="${href}">${title}</a>`;
}

function neighbours(before: NavigationItem | undefined, after: NavigationItem | undefined): Html {
  const one = before === undefined ? html`<span></span>` : html`<a href="${before.href}">← ${before.title}</a>`;
  const other = after === undefined ? html`<span></span>` : html`<a href="${after.href}">${after.title} →</a>`;
  return html`<nav class="neighbours" aria-label="Neighbouring chapters">${one}${other}</nav>`;
}
