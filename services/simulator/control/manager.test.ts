import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { control } from "../test/fixture.ts";
import { connectAuthenticated } from "../test/raw-client.ts";

const PASSWORD = "Manager#2027";

test("after a change of the manager's password open sessions go on, and new ones need it", async () => {
  await using simulator = await startSimulator();
  await using open = await connectAuthenticated(simulator);
  expect(await control(simulator, "POST", "manager", { password: PASSWORD })).toMatchObject({ status: 200, body: {} });

  expect((await open.json("/api/user/total")).retcode).toBe("0 Done");
  await expect(connectAuthenticated(simulator)).rejects.toThrow();
  await using renewed = await connectAuthenticated({ ...simulator, managerPassword: PASSWORD });
  const { managerLogin: login } = simulator;
  const check = `/api/user/check_password?login=${login}&type=api&password=${encodeURIComponent(PASSWORD)}`;
  expect((await renewed.json(check, { method: "POST" })).retcode).toBe("0 Done");
});

test("a weak password changes nothing", async () => {
  await using simulator = await startSimulator();
  for (const body of [{ groups: 1 }, { password: "short" }, { password: 12345678 }, { password: PASSWORD, login: 1 }]) {
    expect(await control(simulator, "POST", "manager", body)).toMatchObject({ status: 400 });
  }
  await using _client = await connectAuthenticated(simulator);
});
