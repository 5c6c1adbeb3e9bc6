import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Document, documentOf } from "../static/document.ts";

export const CONSOLE = "/console";

const FOLDER = fileURLToPath(new URL("../../../console/dist/", import.meta.url));
const PAGE = "index.html";
const ASSETS = "assets";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

export type ConsoleBuild = {
  readonly page: Document;
  /** By path. Their names have the hash of their content. */
  readonly assets: ReadonlyMap<string, Document>;
};

/** Every file is read once: a request chooses among them, and reaches no other file. Undefined when the console was not built. */
export function readBuild(folder = FOLDER): ConsoleBuild | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined;
  const names = readdirSync(join(folder, ASSETS)).filter((name) => TYPES[extname(name)] !== undefined);
  return {
    page: read(folder, PAGE),
    assets: new Map(names.map((name) => [`${CONSOLE}/${ASSETS}/${name}`, read(join(folder, ASSETS), name)])),
  };
}

function read(folder: string, name: string): Document {
  return documentOf(TYPES[extname(name)] ?? "", readFileSync(join(folder, name)));
}
