import fs, { readFileSync } from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import type { Edit } from "./mutant.ts";

const ROOT = new URL("../../../", import.meta.url);

/** Applies the edits to all modules and migrations that this thread loads from now on. Throws when a source lacks the text to replace. */
export function patchSources(edits: readonly Edit[]): void {
  const byFile = Map.groupBy(edits, ({ file }) => new URL(file, ROOT).href);
  const patched = new Map(Array.from(byFile, ([href, own]) => [href, patch(readFileSync(new URL(href), "utf8"), own)]));
  registerHooks({
    load(url, context, nextLoad) {
      const source = patched.get(url);
      return source === undefined ? nextLoad(url, context) : { ...nextLoad(url, context), source };
    },
  });
  // Migrations are read as files.
  const read = fs.readFileSync;
  Object.assign(fs, {
    readFileSync: (path: URL, ...rest: [BufferEncoding]) => patched.get(path.toString()) ?? read(path, ...rest),
  });
  syncBuiltinESMExports();
}

/** The source with the edits. */
function patch(source: string, edits: readonly Edit[]): string {
  return edits.reduce((text, { file, find, put }) => {
    if (!text.includes(find)) {
      throw new Error(
        `cannot apply the mutant: ${file} has no ${JSON.stringify(find)}; change the edit to the new text`,
      );
    }
    return text.replaceAll(find, () => put);
  }, source);
}
