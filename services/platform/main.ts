import { runService } from "#kernel/service.ts";
import { SERVICE, startPlatform } from "./start.ts";

await runService(SERVICE, async (context) => {
  await startPlatform(context);
});
