import { join } from "node:path";
import {
  createProgram,
  type CompilerHost,
  createCompilerHost,
  createSourceFile,
  flattenDiagnosticMessageText,
  getPreEmitDiagnostics,
  ModuleKind,
  ModuleResolutionKind,
  ScriptTarget,
} from "typescript";
import { type Manifest, nameOf } from "./manifests.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Exists in memory only, beside node_modules. */
const FILE = join(ROOT, "manifests-to-check.ts");
const OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  target: ScriptTarget.ESNext,
  module: ModuleKind.ESNext,
  moduleResolution: ModuleResolutionKind.Bundler,
};

/**
 * Compares manifests with the types of Kubernetes and of the custom resources: each manifest is written as a literal of the type of its kind, and the
 * compiler refuses a field that the type does not have, one of another type, and a required one that is missing.
 */
export function typeProblems(manifests: readonly Manifest[]): string[] {
  const texts = manifests.map(literalOf);
  const firstLines = texts.map((_, index) => linesIn(texts.slice(0, index)));
  const host = hostWith(`${texts.join("\n")}\n`);
  const program = createProgram([FILE], OPTIONS, host);
  return getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const text = flattenDiagnosticMessageText(messageText, " ");
    if (file?.fileName !== FILE || start === undefined) return text;
    const { line } = file.getLineAndCharacterOfPosition(start);
    const manifest = manifests[firstLines.findLastIndex((first) => first <= line)];
    return `${manifest === undefined ? "" : nameOf(manifest)}: ${text}`;
  });
}

function literalOf(manifest: Manifest, index: number): string {
  return [
    `import type { I${manifest.kind} as Type${index} } from ${JSON.stringify(moduleOf(manifest))};`,
    `export const manifest${index}: Type${index} = ${JSON.stringify(manifest, undefined, 1)};`,
  ].join("\n");
}

function linesIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.split("\n").length, 0);
}

function hostWith(text: string): CompilerHost {
  const host = createCompilerHost(OPTIONS);
  return {
    ...host,
    fileExists: (name) => name === FILE || host.fileExists(name),
    readFile: (name) => (name === FILE ? text : host.readFile(name)),
    getSourceFile: (name, target, ...rest) =>
      name === FILE ? createSourceFile(name, text, target) : host.getSourceFile(name, target, ...rest),
  };
}

type Resource = { readonly validate: () => void };
type ResourceClass = new (manifest: Manifest) => Resource;

/**
 * Validates each manifest by the OpenAPI schema of its kind, the one that the API server has of a custom resource: patterns of durations, permitted values, ranges,
 * quantities. The schemas say nothing of unknown fields, which `typeProblems` refuses.
 */
export async function schemaProblems(manifests: readonly Manifest[]): Promise<string[]> {
  const problems = await Promise.all(manifests.map(problemOf));
  return problems.filter((problem) => problem !== undefined);
}

async function problemOf(manifest: Manifest): Promise<string | undefined> {
  try {
    const { [manifest.kind]: Kind } = (await import(moduleOf(manifest))) as Record<string, ResourceClass>;
    if (Kind === undefined) return `${nameOf(manifest)}: its kind has no schema`;
    new Kind(manifest).validate();
    return undefined;
  } catch (error) {
    return `${nameOf(manifest)}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The groups of custom resources, and the package with their types and schemas. */
const CUSTOM: Readonly<Record<string, string>> = {
  "cert-manager.io": "@kubernetes-models/cert-manager",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
};

/** The module of a kind: its type, and a class that validates by the schema of the API server. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const [group = ""] = apiVersion.split("/");
  return `${CUSTOM[group] ?? "kubernetes-models"}/${apiVersion}/${kind}`;
}
