import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that start all processes begin first. */
const PROJECTS = ["journey", "integration", "unit"];

/** The files that take longest, in this order: one that began last would run alone at the end. */
export const LONGEST = [
  "test/journey/reference.test.ts",
  "test/journey/kills.test.ts",
  "test/journey/upgrade.test.ts",
  "test/journey/restore.test.ts",
  "test/journey/demo.test.ts",
  "test/chaos/failpoints.test.ts",
  "test/journey/routes.test.ts",
  "deploy/local/run.test.ts",
  "test/journey/quiet.test.ts",
  "test/chaos/chaos.test.ts",
  "test/journey/forged.test.ts",
  "services/edge/docs-site/browser.test.ts",
  "test/simulation/simulation.test.ts",
  "test/console/plots.test.ts",
  "services/edge/main.test.ts",
  "test/simulation/regressions/regressions.test.ts",
  "test/fuzz/adversarial-histories.test.ts",
  "test/console/pages.test.ts",
  "services/fee/testing/crash.test.ts",
  "services/edge/idempotency/lost.test.ts",
  "services/platform/protocol/two-legs.test.ts",
  "services/platform/start.test.ts",
  "services/kernel/nats/streams.test.ts",
];

/** Starts the longest files first, so that all workers end at about the same time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Equal ranks keep the order of vitest: by size, or by the durations of an earlier run.
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => projectRank(left) - projectRank(right) || fileRank(left) - fileRank(right));
  }
}

function projectRank({ project }: TestSpecification): number {
  return PROJECTS.indexOf(project.name);
}

function fileRank({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((file) => moduleId.endsWith(file));
  return rank === -1 ? LONGEST.length : rank;
}
