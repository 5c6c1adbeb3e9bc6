import { readFileSync } from "node:fs";
import { type Document, documentOf } from "../../http/static/document.ts";
import { viewerScript } from "./reference/viewer.ts";

export const ASSETS = "/docs/assets";

const TYPES = {
  "site.css": "text/css; charset=utf-8",
  "site.js": "text/javascript; charset=utf-8",
  "reference.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
} as const;

export type Assets = {
  /** With the version of the content, so that it can be cached for ever; a browser asks whether that of the viewer has changed. */
  readonly url: (name: string) => string;
  readonly find: (name: string) => Promise<Document> | undefined;
};

export function readAssets(): Assets {
  const own = new Map(Object.entries(TYPES).map(([name, type]) => [name, documentOf(type, readAsset(name))]));
  let viewer: Promise<Document> | undefined;
  const retryLater = (error: unknown): never => {
    viewer = undefined;
    throw error;
  };
  return {
    url: (name) => {
      const version = own.get(name)?.version;
      return version === undefined ? `${ASSETS}/${name}` : `${ASSETS}/${name}?v=${version}`;
    },
    find: (name) => {
      const found = own.get(name);
      if (found !== undefined) return Promise.resolve(found);
      // Five megabytes of text, which only a process whose reference is opened keeps in memory.
      if (name === "viewer.js") return (viewer ??= readViewer().catch(retryLater));
      return undefined;
    },
  };
}

async function readViewer(): Promise<Document> {
  return documentOf("text/javascript; charset=utf-8", await viewerScript());
}

function readAsset(name: string): Buffer {
  return readFileSync(new URL(`assets/${name}`, import.meta.url));
}
