/**
 * Hears what hosts say to their log server (DHCP option 7) while they boot: UDP, RFC 5424 and 3164. Answers nobody, keeps nothing; who
 * hosts it is told each line with the address that it came from.
 */
import { type Datagrams, type OpenDatagrams, udp } from "../tftp/datagrams.ts";
import { syslogLine } from "./message.ts";

export interface SyslogOptions {
  address: string;
  /** 514 unless told otherwise; 0: any free one. */
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
