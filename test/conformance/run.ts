import process from "node:process";
import { report, runKit } from "./run-kit.ts";
import { SPECIFICATION } from "./specification.ts";

/** Compares a deployment with the specification. Ends with 1 when a sentence differs, and with 2 when it was called wrongly. */
const USE = `Usage: make conformance URL=<address> KEY=<API key> [SIMULATOR=<control API>] [WEEK=<seconds>]
       [MASTER_GROUP=<group>] [INVESTOR_GROUP=<group>] [flags=--allow-money]

It makes Masters and Investors of its own. It moves money only with a key of a test system, or with --allow-money.
`;

const { URL: url = "", KEY: key = "", SIMULATOR, WEEK, MASTER_GROUP, INVESTOR_GROUP } = process.env;
const flags = process.argv.slice(2);
const isWrong = !/^https?:\/\//.test(url) || key === "" || flags.some((flag) => flag !== "--allow-money");
if (isWrong) {
  process.stderr.write(USE);
  process.exitCode = 2;
} else {
  const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text);
  const settings = {
    url,
    key,
    simulator: given(SIMULATOR),
    weekSeconds: given(WEEK) === undefined ? undefined : Number(WEEK),
    masterGroup: given(MASTER_GROUP),
    investorGroup: given(INVESTOR_GROUP),
    allowMoney: flags.includes("--allow-money"),
  };
  const rows = await runKit(settings, SPECIFICATION);
  process.stdout.write(report(rows));
  process.exitCode = rows.some(({ result }) => result === "differs") ? 1 : 0;
}
