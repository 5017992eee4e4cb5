import { webcrypto } from "node:crypto";
import { offLoop } from "@slipway/base";

/** Node's WebCrypto, its keys, hashes and signatures as `offLoop`'s work: virtual time waits for them. */
export const offLoopCrypto: Pick<typeof webcrypto, "subtle" | "getRandomValues" | "randomUUID"> = {
  subtle: new Proxy(webcrypto.subtle, {
    get(subtle, name) {
      const member = Reflect.get(subtle, name);
      if (typeof member !== "function") return member;
      return (...of: unknown[]) => offLoop(member.apply(subtle, of) as Promise<unknown>);
    },
  }),
  getRandomValues: (array) => webcrypto.getRandomValues(array),
  randomUUID: () => webcrypto.randomUUID(),
};
