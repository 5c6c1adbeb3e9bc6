import { signal } from "@preact/signals";

/** Where the console is. It is in the fragment, so logins and comments reach no log of a proxy. */
export type Place = { readonly path: readonly string[]; readonly query: URLSearchParams };

export const place = signal(placeOf(globalThis.location?.hash ?? ""));

export function placeOf(hash: string): Place {
  const [path = "", query = ""] = (hash.startsWith("#/") ? hash.slice(2) : "").split("?");
  return {
    path: path
      .split("/")
      .filter((part) => part !== "")
      .map(decoded),
    query: new URLSearchParams(query),
  };
}

export type Filter = Readonly<Record<string, string | undefined>>;

/** Members without a value are left out. */
export function hrefTo(path: readonly string[], filter: Filter = {}): string {
  const members = Object.entries(filter).filter((member): member is [string, string] => (member[1] ?? "") !== "");
  const query = new URLSearchParams(members).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${query === "" ? "" : `?${query}`}`;
}

export function goTo(href: string): void {
  location.hash = href.replace(/^#/, "");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Any other fragment is a part of the page that is shown. */
globalThis.addEventListener?.("hashchange", () => {
  if (location.hash === "" || location.hash.startsWith("#/")) place.value = placeOf(location.hash);
});
