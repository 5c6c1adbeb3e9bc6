import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";

const FOLDER = join(import.meta.dirname, "..");
export const OVERLAYS = ["dev", "production"] as const;
export type Overlay = (typeof OVERLAYS)[number];

/** An object of Kubernetes, whatever its kind. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels; readonly namespace?: string };
  readonly spec?: unknown;
};
export type Labels = Readonly<Record<string, string>>;

/** How messages name an object. */
export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** A folder below deploy/k8s, as kustomize builds it. */
export async function buildFolder(folder: string): Promise<Manifest[]> {
  const run = promisify(execFile);
  const { stdout: kustomize } = await run("sh", [join(import.meta.dirname, "kustomize.sh")]);
  const { stdout } = await run(kustomize.trim(), ["build", join(FOLDER, folder)], { maxBuffer: 2 ** 26 });
  return manifestsIn(stdout);
}

/** What an overlay applies before the roll-out, and with it. */
export async function buildOverlay(overlay: Overlay): Promise<Manifest[]> {
  const folders = [`overlays/${overlay}/before`, `overlays/${overlay}`];
  return (await Promise.all(folders.map(buildFolder))).flat();
}
