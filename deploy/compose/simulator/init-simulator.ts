import { runOnce } from "../../provision/one-shot.ts";
import { SIMULATOR_FOLDER } from "../compose-names.ts";
import { issueSimulatorCertificate } from "./issue-simulator-certificate.ts";

/** Before `init-secrets`, which gives the certificate to the platform service. */
await runOnce("init-simulator", async (env) => {
  await issueSimulatorCertificate(env, SIMULATOR_FOLDER);
  return "the simulator has its certificate";
});
