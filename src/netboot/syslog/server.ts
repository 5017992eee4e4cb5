/**
 * Receives what hosts send to their log server (DHCP option 7) while they boot: UDP, RFC 5424 and 3164. Sends no answer, keeps nothing; who
 * hosts it gets each line with the address that it came from.
 */
import { type Datagrams, type OpenDatagrams, udp } from "../tftp/datagrams.ts";
import { syslogLine } from "./message.ts";

export interface SyslogOptions {
  address: string;
  /** Default: 514; 0: any free one. */
  port?: number;
  /** Must not throw. */
  onLine: (address: string, line: string) => void;
  datagrams?: OpenDatagrams;
}

/** Listens until it is closed. Rejects with a `Fault` when the port can't be bound. */
export function serveSyslog({ address, port = 514, onLine, datagrams = udp }: SyslogOptions): Promise<Datagrams> {
  return datagrams({ address, port }, (bytes, from) => {
    const line = syslogLine(bytes);
    if (line !== "") onLine(from.address, line);
  });
}
