import { join } from "node:path";
import { build } from "vite";

const ROOT = join(import.meta.dirname, "../../services/console");

/** The files of the console, as the edge serves them: names have the hash of their content. */
await build({
  configFile: false,
  root: ROOT,
  base: "/console/",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: join(ROOT, "dist"),
    emptyOutDir: true,
    // Nothing is inlined, so that the content security policy needs no exception.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ["chrome120", "firefox121", "safari17"],
  },
});
