import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import own from "#package" with { type: "json" };
import { openApiDocument } from "../../deploy/docs/openapi/document.ts";
import { isInHistory, readReleases, releaseMistakes } from "../support/releases.ts";

type Kustomization = { readonly images: readonly { readonly name: string; readonly newTag: string }[] };

const read = (path: string): string => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

test("deploy/releases.yaml names commits of this history, in the order of their versions", () => {
  expect(releaseMistakes(readReleases(), own.version, isInHistory)).toEqual([]);
});

test("the changelog, the client and the images of production have the version of package.json", () => {
  const headings = [...read("CHANGELOG.md").matchAll(/^## \[(.+?)\](.*)$/gm)];
  const released = headings.filter(([, name]) => name !== "Unreleased").map(([, version]) => version);
  const tags = ["", "before/"].flatMap((folder) => {
    const { images } = parse(read(`deploy/k8s/overlays/production/${folder}kustomization.yaml`)) as Kustomization;
    return images.filter(({ name }) => name === own.name).map(({ newTag }) => newTag);
  });

  if (own.version.endsWith("-dev")) {
    expect(headings[0]?.[0]).toBe(`## [Unreleased], becomes ${own.version.replace("-dev", "")}`);
  } else expect(released[0]).toBe(own.version);
  expect(released).toEqual(
    readReleases()
      .map(({ version }) => version)
      .toReversed(),
  );
  expect(JSON.parse(read("services/client/package.json"))).toMatchObject({ version: own.version });
  expect(new Set(tags)).toEqual(new Set([own.version]));
});

test("the API document has the version of package.json", () => {
  expect(openApiDocument([])).toMatchObject({ info: { version: own.version } });
});
