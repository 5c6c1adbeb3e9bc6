import { type Html, html } from "../html.ts";
import { head, topBar } from "../layout.ts";

export const REFERENCE = "/docs/reference";

/** The viewer gives its styles the nonce. */
export function referencePage(nonce: string, assetUrl: (name: string) => string): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        ${head("Reference", assetUrl)}
        <meta property="csp-nonce" content="${nonce}" />
        <script src="${assetUrl("reference.js")}" defer></script>
        <script src="${assetUrl("viewer.js")}" defer></script>
      </head>
      <body class="reference">
        ${topBar(REFERENCE)}
        <main id="reference"></main>
        <noscript
          >The reference needs JavaScript. The document itself is <a href="/openapi.json">/openapi.json</a>.</noscript
        >
      </body>
    </html> `;
}
