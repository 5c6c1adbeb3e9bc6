import type { ComponentType } from "preact";
import type { Scope } from "../session/session.ts";

/** `path` is what follows the name of the page in the address. */
export type PageProps = { readonly path: readonly string[]; readonly query: URLSearchParams };

export type Page = {
  /** The first part of the address. */
  readonly name: string;
  readonly title: string;
  /** One of these is needed; none when any key may see it. */
  readonly anyOf: readonly Scope[];
  /** Pages that are only reached by links are not in the navigation. */
  readonly isHidden?: boolean;
  /** Loaded when it is opened for the first time. */
  readonly load: () => Promise<{ readonly View: ComponentType<PageProps> }>;
};
