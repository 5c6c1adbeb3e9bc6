import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Entry, Manifest } from "../../services/edge/http/static/manifest.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".yaml": "application/yaml; charset=utf-8",
};
/** A smaller file is not worth the work. */
const MIN_COMPRESSED_BYTES = 1_000;

type File = Pick<Entry, "isFixed" | "hasNonce" | "headers"> & { readonly content: string | Uint8Array };
export type Files = Readonly<Record<string, File>>;

type Site = {
  readonly headers: Manifest["headers"];
  /** By address. A page has none of an ending. */
  readonly files: Files;
  readonly notFound: File & { readonly name: string };
};

/** Replaces the folder by these files, each as it is and compressed, and by what the edge has to know about them. */
export function writeFiles(folder: string, { headers, files, notFound }: Site): void {
  rmSync(folder, { recursive: true, force: true });
  const write = (name: string, { content, ...file }: File): Entry => {
    const type = TYPES[extname(name)];
    if (type === undefined) throw new Error(`${name} has no known type`);
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    const isCompressed = content.length >= MIN_COMPRESSED_BYTES && file.hasNonce !== true;
    if (isCompressed) writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
    return { ...file, name: isCompressed ? `${name}.gz` : name, type, version: versionOf(content), isCompressed };
  };
  const entries = Object.entries(files).map(([address, file]) => {
    return [address, write(extname(address) === "" ? `${address}.html` : address, file)] as const;
  });
  const manifest: Manifest = {
    headers,
    files: Object.fromEntries(entries),
    notFound: write(notFound.name, notFound),
  };
  writeFileSync(join(folder, "manifest.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

export function versionOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 16);
}
