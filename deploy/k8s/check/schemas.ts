import { type Manifest, nameOf } from "./manifests.ts";
import { moduleOf } from "./resource-types.ts";

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
