import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_PROJECT, DEFAULT_TOKEN } from "./options.ts";
import { rig } from "./rig.ts";

const SECOND = { id: "5afe0000-0000-4000-8000-000000000002", name: "the other" };

test("each page is of the list as it is then, of its own project", async () => {
  const { http, clock } = rig({ projects: [DEFAULT_PROJECT, SECOND] });
  const ask = async (method: "GET" | "POST" | "DELETE", path: string, body?: object) => {
    const headers = { "x-auth-token": DEFAULT_TOKEN, "content-type": "application/json" };
    const url = `https://metal.test/metal/v1${path}`;
    const { body: text } = await http({ method, url, headers, ...(body && { body: JSON.stringify(body) }) });
    return text === "" ? undefined : JSON.parse(text);
  };
  const order = (project: string, hostname: string) =>
    ask("POST", `/projects/${project}/devices`, {
      ...{ plan: "c3.small.x86", operating_system: "ubuntu_20_04", metro: "sg", hostname },
    });
  const page = async (number: number, project = DEFAULT_PROJECT.id): Promise<string[]> =>
    (await ask("GET", `/projects/${project}/devices?page=${number}&per_page=2`)).devices.map(
      ({ hostname }: { hostname: string }) => hostname,
    );
  for (const name of ["a", "b", "c"]) await order(DEFAULT_PROJECT.id, name);
  await order(SECOND.id, "d");
  assert.deepEqual([await page(1), await page(1, SECOND.id), await page(2)], [["a", "b"], ["d"], ["c"]]);
  const { id } = await order(DEFAULT_PROJECT.id, "e");
  assert.deepEqual(await page(2), ["c", "e"]);
  await ask("DELETE", `/devices/${id}`);
  await clock.run(3_600_000);
  assert.deepEqual(await page(2), ["c"]);
});
