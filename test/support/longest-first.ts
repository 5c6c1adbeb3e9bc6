import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The seconds of the files that take longest, as `make times` recorded them. */
export const SECONDS: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "../times.json"), "utf8"),
) as Record<string, number>;

/** Workers keep their modules as long as they run files of one project, so a project is run as a whole; journeys take longest. */
const PROJECTS = ["journey", "integration", "unit", "console"];

/** Starts the longest files first, so that all workers end at about the same time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted(
      (left, right) => projectRank(left) - projectRank(right) || secondsOf(right) - secondsOf(left),
    );
  }
}

function projectRank({ project }: TestSpecification): number {
  return PROJECTS.indexOf(project.name);
}

/** A file without a record is short, or new and then among the last. */
function secondsOf({ project, moduleId }: TestSpecification): number {
  return SECONDS[moduleId.slice(project.config.root.length + 1)] ?? 0;
}
