/**
 * Asks for an address every few milliseconds, as many machines would, until its standard input ends; then prints how often it asked and
 * how many answers came, as JSON. Says "asking" and "answered" on standard error.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { SENDS, say } from "../../src/netboot/dhcp/testing.ts";
import { encode } from "../../src/netboot/dhcp/wire/encode.ts";

/** Machines that all seem to power on at once. */
export interface Asked {
  sent: number;
  answers: number;
}

const EVERY_MS = 2;

const socket = createSocket({ type: "udp4", reuseAddr: true });
const asked: Asked = { sent: 0, answers: 0 };
socket.on("message", () => {
  if (asked.answers++ === 0) console.error("answered");
});
socket.bind(68);
await once(socket, "listening");
socket.setBroadcast(true);
const ask = setInterval(() => {
  const mac = `52:54:00:00:01:${(asked.sent++ % 50).toString(16).padStart(2, "0")}`;
  socket.send(encode(say("discover", { mac, flags: 0x8000, sends: SENDS.ovmfPxe })).bytes, 67, "255.255.255.255");
}, EVERY_MS);
console.error("asking");
process.stdin.resume();
await once(process.stdin, "end");
clearInterval(ask);
socket.close();
console.log(JSON.stringify(asked));
