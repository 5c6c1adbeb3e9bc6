import { posix } from "node:path";
import { type Chapter, slugOf } from "./chapters.ts";

export type Link =
  | { readonly kind: "page"; readonly href: string }
  | { readonly kind: "web"; readonly href: string }
  /** A file of the repository, which the site does not have. */
  | { readonly kind: "file"; readonly path: string };

export type ResolveLink = (fromFile: string, target: string) => Link;

export const GUIDE = "/docs/guide";

/** Where a link of the repository leads on the site. */
export function linksBetween(chapters: readonly Chapter[], homeFile: string): ResolveLink {
  const places = new Map<string, string>([[homeFile, "/docs"]]);
  for (const { file, slug, markdown } of chapters) {
    const page = `${GUIDE}/${slug}`;
    if (!places.has(file)) places.set(file, page);
    places.set(`${file}#${slug}`, page);
    for (const [, heading = ""] of markdown.matchAll(/^#{2,4} (.*)$/gm)) {
      places.set(`${file}#${slugOf(heading)}`, `${page}#${slugOf(heading)}`);
    }
  }
  return (fromFile, target) => {
    if (target.startsWith("https://")) return { kind: "web", href: target };
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? fromFile : posix.join(posix.dirname(fromFile), path);
    const href = places.get(anchor === undefined ? file : `${file}#${anchor}`);
    return href === undefined ? { kind: "file", path: file } : { kind: "page", href };
  };
}
