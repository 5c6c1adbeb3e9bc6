import type { Project } from "./engine.ts";

/** Without Node and the libraries of the system. */
const MAX_OWN_BYTES = 60 * 1_000 ** 2;
const USER = "1000:1000";
const LABELS = ["title", "version", "revision"].map((name) => `org.opencontainers.image.${name}`);

/** What must not be in an image, by path in it. */
const IMAGES: Readonly<Record<string, readonly string[]>> = {
  "pamm-integration-service:local": ["/app/services/simulator", "/app/deploy/demo", "/app/deploy/local", "/app/test"],
  "pamm-simulator:local": ["/app/services/platform", "/app/services/edge", "/app/deploy/demo", "/app/deploy/local"],
};

/** What a browser loads; it is made in a stage of its own. */
const BUILT = ["/app/dist/console/manifest.json", "/app/dist/docs/manifest.json"];
const PRODUCT = "pamm-integration-service:local";

/** What is wrong with the images; one line each. */
export async function checkImages({ docker }: Project): Promise<string[]> {
  const problems: string[] = [];
  for (const [image, forbidden] of Object.entries(IMAGES)) {
    const own = await ownBytesOf(image, docker);
    if (own > MAX_OWN_BYTES) problems.push(`${image}: ${own} bytes besides Node, more than ${MAX_OWN_BYTES}`);
    const { User, Labels } = JSON.parse(await docker("inspect", "--format", "{{json .Config}}", image)) as Config;
    if (User !== USER) problems.push(`${image}: runs as ${User}`);
    problems.push(...LABELS.filter((label) => !Labels?.[label]).map((label) => `${image}: has no label ${label}`));
    const found = await programsAnd(forbidden, image, docker);
    if (found.length > 0) problems.push(`${image}: contains ${found.join(", ")}`);
  }
  const isBuilt = `console.log(${JSON.stringify(BUILT)}.every((path) => require("node:fs").existsSync(path)))`;
  if ((await docker("run", "--rm", "--network", "none", PRODUCT, "node", "-e", isBuilt)) !== "true") {
    problems.push(`${PRODUCT}: lacks one of ${BUILT.join(", ")}`);
  }
  return problems;
}

type Config = { readonly User: string; readonly Labels: Readonly<Record<string, string>> | null };

async function ownBytesOf(image: string, docker: Project["docker"]): Promise<number> {
  const history = await docker("history", "--no-trunc", "--human=false", "--format", "{{.Size}}", image);
  const [, ...own] = history
    .split("\n")
    .map(Number)
    .filter((size) => size > 0)
    .toReversed();
  return own.reduce((sum, size) => sum + size, 0);
}

/** Those paths that exist, programs besides Node, and packages that the list of packages leaves out. */
async function programsAnd(paths: readonly string[], image: string, docker: Project["docker"]): Promise<string[]> {
  const script = `
    const { existsSync, readdirSync, readFileSync } = require("node:fs");
    const found = ${JSON.stringify(paths)}.filter((path) => existsSync(path));
    for (const folder of ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"]) {
      if (existsSync(folder)) found.push(...readdirSync(folder).map((name) => folder + "/" + name).filter((path) => path !== "/usr/local/bin/node"));
    }
    const { components } = JSON.parse(readFileSync("/app/sbom.cdx.json", "utf8"));
    const listed = new Set(components.map(({ name, version }) => name + "@" + version));
    for (const file of readdirSync("/app/node_modules", { recursive: true })) {
      if (!/(^|\\/node_modules\\/)(@[^/]+\\/)?[^/@]+\\/package\\.json$/.test(file)) continue;
      const { name, version } = JSON.parse(readFileSync("/app/node_modules/" + file, "utf8"));
      if (!listed.has(name + "@" + version)) found.push(name + "@" + version + " without being listed");
    }
    if (listed.size < 20) found.push("a list of packages that is nearly empty");
    console.log(JSON.stringify(found));`;
  return JSON.parse(await docker("run", "--rm", "--network", "none", image, "node", "-e", script)) as string[];
}
