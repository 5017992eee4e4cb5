/** Answers router solicitations on a device until standard input ends, to the one machine that is named. For tests. */
import { once } from "node:events";
import { quietLog } from "@slipway/base";
import { answerSolicitations } from "../../src/netboot/solicitations/responder.ts";

const [, , device, mac] = process.argv;
const responder = await answerSolicitations({ device: device!, answers: (asking) => asking === mac, log: quietLog });
console.log("ready");
process.stdin.resume();
await once(process.stdin, "end");
await responder.close();
