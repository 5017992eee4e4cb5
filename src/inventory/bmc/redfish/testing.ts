/** For tests: a BMC of a few fixed resources. */
import { type HttpAnswer, type HttpRequest, json, plain } from "@slipway/base";
import type { Bmc } from "../bmc.ts";
import { bmcWorld, CREDENTIALS } from "../testing.ts";

type Answers = Record<string, object | ((request: HttpRequest) => HttpAnswer)>;

export const SYSTEM = "/redfish/v1/Systems/1";
/** A reference to a resource. */
export const link = (path: string): object => ({ "@odata.id": path });
/** A collection of resources. */
export const members = (...paths: string[]): object => ({ Members: paths.map(link) });

/** A BMC of fixed answers; what was written to it. */
export function fixed(answers: Answers): {
  bmc: Bmc;
  run: ReturnType<typeof bmcWorld>["run"];
  fails: ReturnType<typeof bmcWorld>["fails"];
  writes: { line: string; body: unknown }[];
} {
  const { serve, bmcs, run, fails } = bmcWorld();
  const writes: { line: string; body: unknown }[] = [];
  const all: Answers = {
    "/redfish/v1/": {},
    [SYSTEM]: { "@odata.type": "#ComputerSystem.v1_0_0.ComputerSystem" },
    ...answers,
  };
  serve("https://odd.example", async (request) => {
    const path = new URL(request.url).pathname;
    if (request.method !== "GET")
      writes.push({
        line: `${request.method} ${path}`,
        body: request.body === undefined ? undefined : JSON.parse(request.body),
      });
    const answer = all[path];
    if (answer === undefined) return plain(404, "not found");
    return typeof answer === "function" ? answer(request) : json(200, answer);
  });
  const bmc = bmcs.open({ address: `redfish://odd.example${SYSTEM}`, credentials: CREDENTIALS });
  return { bmc, run, fails, writes };
}
