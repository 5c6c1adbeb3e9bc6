import { Gauge } from "prom-client";
import manifest from "#package" with { type: "json" };

const build = new Gauge({
  name: "pamm_build_info",
  help: "Always 1; the labels name the version and the commit (PAMM_COMMIT) that the process runs.",
  labelNames: ["service", "version", "commit"],
});

export const VERSION = manifest.version;

export function showBuild(service: string, commit = "unknown"): void {
  build.set({ service, version: VERSION, commit }, 1);
}
