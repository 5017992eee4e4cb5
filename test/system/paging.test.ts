/** A provider whose lists do not end holds up nobody and costs no machine (point 22). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpAnswer, json } from "@slipway/base";
import type { HarvesterWorldOptions } from "./harvester-world.ts";
import { condition, using } from "./using.ts";
import { MINUTE } from "./world.ts";

type Page = (number: number, first: HttpAnswer) => object;

interface Wire {
  devices?: { id: string }[];
  data?: { id: string }[];
}

/** The items of the true first page, under ids of the page's own where `fresh`. */
function items(first: HttpAnswer, number: number, fresh: boolean, times = 1): Wire {
  const body = JSON.parse(first.body) as Wire;
  const all = (list: readonly { id: string }[]) =>
    Array.from({ length: times }, (_, i) =>
      list.map((one) => (fresh ? { id: `${one.id}-${number}-${i}` } : one)),
    ).flat();
  return body.devices ? { devices: all(body.devices) } : { data: all(body.data ?? []) };
}

const more = (number: number) => ({ meta: { last_page: number + 1, total: 1e9, stats: { total: { count: 1e9 } } } });

const ENDLESS: readonly [name: string, page: Page][] = [
  ["always names another page", (number, first) => ({ ...items(first, number, true), ...more(number) })],
  ["repeats a page", (number, first) => ({ ...items(first, number, false), ...more(number) })],
  ["grows its pages", (number, first) => ({ ...items(first, number, true, 100 * number), ...more(number) })],
];

for (const provider of ["equinix", "latitude"] as const) {
  for (const [name, page] of ENDLESS) {
    test(`a provider that ${name} is read within bounds, and said so (${provider})`, () => {
      let endless = false;
      let asked = 0;
      const clouds: HarvesterWorldOptions["clouds"] = (inner) => async (request) => {
        const url = new URL(request.url);
        const list = request.method === "GET" && /\/(devices|servers)$/.test(url.pathname);
        if (!endless || !list) return await inner(request);
        asked++;
        const number = Number(url.searchParams.get("page") ?? url.searchParams.get("page[number]") ?? 1);
        for (const key of ["page", "page[number]"]) if (url.searchParams.has(key)) url.searchParams.set(key, "1");
        return json(200, page(number, await inner({ ...request, url: url.href })));
      };
      return using({ provider, clouds }, async (world) => {
        await world.pool("rack", { count: 2 });
        await world.until("ready", () => world.converged());
        endless = true;
        await world.clock.run(10 * MINUTE);
        const [instance] = await world.instances();
        assert.match(condition(instance, "Stalled")!.message, /list does not end: /);
        assert.ok(asked < 3_000, `${asked} pages in 10 minutes`);
        endless = false;
        await world.until(
          "it goes on as before",
          async () => condition((await world.instances())[0], "Stalled")?.status !== "True",
        );
        assert.ok(await world.converged());
        assert.equal(world.cloud.bought(), 2, "no machine was taken for gone");
      });
    });
  }
}
