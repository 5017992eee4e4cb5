import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Makes a server answer 501 to a method that Node's parser does not know, as DSP0266 asks; by itself it answers 400. For the `guard` of
 * `serveHttp`.
 */
export function answerUnknownMethods(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) return void socket.destroy();
    const status = error.code === "HPE_INVALID_METHOD" ? "501 Not Implemented" : "400 Bad Request";
    socket.end(`HTTP/1.1 ${status}\r\nodata-version: 4.0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  });
}
