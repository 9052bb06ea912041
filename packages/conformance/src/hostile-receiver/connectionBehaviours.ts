/** Receivers that never send a response. */
import type { HostileScripts } from "./HostileBehaviour.ts"
import { answer, fails, respondCorrectly, stalls, writes } from "./RawAnswers.ts"

const retried = "Record a failed attempt, and do not resend automatically: the receiver may have read the request."

export const connectionBehaviours = {
  "never-accepts": {
    ...stalls("Listens with a full accept queue."),
    unsent: true,
    deaf: true
  },
  "says-nothing": stalls("Reads the request and sends nothing."),
  "reads-nothing": { ...stalls("Accepts the connection and never reads from it."), reads: "nothing" },
  "closes-on-connect": {
    ...fails("Closes the connection as soon as it is established.", retried, () => {}),
    reads: "nothing",
    onConnection: (socket) => socket.end()
  },
  "resets-on-connect": {
    ...fails("Resets the connection as soon as it is established.", retried, () => {}),
    reads: "nothing",
    onConnection: (socket) => socket.resetAndDestroy()
  },
  "resets-before-body": {
    ...fails("Resets the connection after reading the head.", retried, ({ socket }) => socket.resetAndDestroy()),
    reads: "head"
  },
  "resets-after-request": fails("Resets the connection after reading the request.", retried, ({ socket }) => socket.resetAndDestroy()),
  "closes-after-request": fails("Closes the connection without a response.", retried, ({ socket }) => socket.destroy()),
  "half-closes": fails("Closes its sending side and keeps reading.", retried, ({ socket }) => socket.end()),
  "closes-in-head": fails("Closes in the middle of the head.", retried, ({ socket }) => socket.end("HTTP/1.1 200 OK\r\ncontent-le")),
  "resets-in-body": fails("Resets the connection in the middle of the body.", retried, ({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", () => setImmediate(() => socket.resetAndDestroy()))
  }),
  "answers-before-request": {
    does: "Sends a response as soon as the connection is established, and another one to the request.",
    must: "Use the first response for this request or for none, and the second for no other request.",
    outcome: "either",
    ends: "receiver",
    onConnection: (socket) => socket.write(answer("200 OK", [], "early")),
    onRequest: respondCorrectly
  },
  "refuses-before-body": {
    ...fails("Responds 413 after reading the head, and reads no further.", "Use the response, and close the connection.", writes(answer("413 Too Large", ["connection: close"]))),
    reads: "head"
  },
  "accepts-before-body": {
    does: "Responds 200 after reading the head, keeps the connection, and reads no further.",
    must: "Use the response or fail, and write no other request after an incomplete one.",
    outcome: "either",
    next: "either",
    ends: "receiver",
    reads: "head",
    onRequest: writes(answer("200 OK"))
  }
} satisfies HostileScripts
