import { join } from "node:path";
import { build } from "vite";
import { DIST } from "../../services/edge/http/static/manifest.ts";
import { type Files, writeFiles } from "../static/write-files.ts";

/**
 * No inline script or style, nothing from elsewhere, no frame around it, and no text that becomes a script: a key in the memory of the page
 * can be sent to this origin only.
 */
const HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
};

const built = await build({
  configFile: false,
  root: join(import.meta.dirname, "../../services/console"),
  base: "/console/",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    write: false,
    // Nothing is inlined, so that the content security policy needs no exception.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ["chrome120", "firefox121", "safari17"],
  },
});
if (!("output" in built)) throw new Error("the console has one output");

const files = built.output.map((each) => {
  const content = each.type === "chunk" ? each.code : each.source;
  // All other names have the hash of the content.
  return each.fileName === "index.html"
    ? ["/console", { content }]
    : [`/console/${each.fileName}`, { content, isFixed: true }];
});
writeFiles(join(DIST, "console"), {
  headers: HEADERS,
  files: Object.fromEntries(files) as Files,
  notFound: { name: "not-found.txt", content: "The console has no such file.\n" },
});
