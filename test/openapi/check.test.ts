import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openApiDocument } from "../../deploy/docs/openapi/document.ts";
import { DOCUMENTED_ROUTES } from "../../services/edge/api/documented-routes.ts";
import { checkClient } from "./client-types.ts";
import { redocly } from "./redocly.ts";

const folder = mkdtempSync(join(tmpdir(), "openapi-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("each check finds a defect that was planted", { timeout: 120_000 }, async () => {
  const [few, all] = [join(folder, "few.json"), join(folder, "all.json")];
  // An operation without its name, and an example with a wrong type; the linters need a second for each route.
  const defects = JSON.stringify(
    openApiDocument(DOCUMENTED_ROUTES.filter(({ url }) => /balance|master\/create$/.test(url))),
  )
    .replace('"operationId":"getBalance",', "")
    .replace('"min_deposit":"100.50"', '"min_deposit":true');
  writeFileSync(few, defects);
  // A model without a member that the client uses.
  writeFileSync(
    all,
    JSON.stringify(openApiDocument(DOCUMENTED_ROUTES)).replaceAll('"effective_withdraw"', '"effective_amount"'),
  );

  const found = {
    redocly: await redocly(few),
    client: await checkClient(all, folder),
  };

  expect(found.redocly.join("\n")).toContain("operation-operationId");
  expect(found.redocly.join("\n")).toContain("no-invalid-media-type-examples");
  expect(found.client.join("\n")).toContain("effective_withdraw");
});
