import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What programs outside of the edge have built: a folder with a manifest for `/console`, and one for `/docs`. */
export const DIST = join(import.meta.dirname, "../../../../dist");

/** In the text of a file and in its policy: another value for each answer. */
export const NONCE = "{nonce}";

/** Written by deploy/static/write-files.ts. */
export type Manifest = {
  /** Of every answer. */
  readonly headers: Headers;
  /** By address. */
  readonly files: Readonly<Record<string, Entry>>;
  readonly notFound: Entry;
};

type Headers = Readonly<Record<string, string>>;

export type Entry = {
  readonly name: string;
  readonly type: string;
  /** Another one when the content is another one. */
  readonly version: string;
  /** By gzip. */
  readonly isCompressed: boolean;
  /** The address changes with the content. */
  readonly isFixed?: boolean;
  readonly hasNonce?: boolean;
  readonly headers?: Headers;
};

export type StaticFile = Entry & { readonly body: Buffer };

export type Built = Pick<Manifest, "headers"> & {
  readonly files: ReadonlyMap<string, StaticFile>;
  readonly notFound: StaticFile;
};

/** Every file is read once: a request chooses among them, and reaches no other file. Undefined when they were not built. */
export function readBuilt(folder: string): Built | undefined {
  const manifest = join(folder, "manifest.json");
  if (!existsSync(manifest)) return undefined;
  const { headers, files, notFound } = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
  const read = (entry: Entry): StaticFile => ({ ...entry, body: readFileSync(join(folder, entry.name)) });
  const all = Object.entries(files).map(([path, entry]) => [path, read(entry)] as const);
  return { headers, files: new Map(all), notFound: read(notFound) };
}
