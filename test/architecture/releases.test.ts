import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import own from "#package" with { type: "json" };
import { openApiDocument } from "../../deploy/docs/openapi/document.ts";
import { isInHistory, readReleases, releaseMistakes } from "../support/releases.ts";

type Kustomization = { readonly images: readonly { readonly name: string; readonly newTag: string }[] };

const read = (path: string): string => readFileSync(join(import.meta.dirname, "../..", path), "utf8");
const COMMIT = "a".repeat(40);
const FIRST = { version: "0.1.0", commit: COMMIT };

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

test("a commit that does not exist is in no history", () => {
  expect(isInHistory(COMMIT)).toBe(false);
});

test.each([
  ["an unknown commit", [FIRST], false, "not in the history"],
  ["a short commit", [{ ...FIRST, commit: "abc1234" }], true, "not the whole id"],
  ["a version twice", [FIRST, FIRST], true, "listed after 0.1.0"],
  [
    "versions that descend",
    [
      { ...FIRST, version: "0.1.10" },
      { ...FIRST, version: "0.1.9" },
    ],
    true,
    "listed after 0.1.10",
  ],
  ["a version newer than package.json", [{ ...FIRST, version: "0.2.1" }], true, "newer than package.json"],
  ["no version", [{ ...FIRST, version: "next" }], true, "three numbers"],
])("%s is a mistake", (_, releases, isKnown, mistake) => {
  expect(releaseMistakes(releases, "0.2.0", () => isKnown)).toContainEqual(expect.stringContaining(mistake));
});

test("no release, and releases that ascend to the version of package.json, are accepted", () => {
  const releases = [FIRST, { ...FIRST, version: "0.1.10" }, { ...FIRST, version: "0.2.0" }];
  expect(releaseMistakes([], "0.2.0", () => true)).toEqual([]);
  expect(releaseMistakes(releases, "0.2.0", () => true)).toEqual([]);
});
