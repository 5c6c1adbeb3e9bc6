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
import { moduleOf } from "./resource-types.ts";

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
