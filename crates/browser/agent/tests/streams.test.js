// @ts-check
import { sleep } from "../natives.js";
import {
  awaitStreams,
  closeStream,
  endStreams,
  expectAnswer,
  onStreamMessage,
  streams,
} from "../streams.js";
import { equal } from "./check.js";

export const cases = {
  "an answer is expected for a bounded time": async () => {
    equal(awaitStreams(0), 0);
    expectAnswer(streams);
    equal(awaitStreams(0) > 100, true);
    await sleep(250);
    equal(awaitStreams(0) > 0, false);
  },
  "after a message more may follow, but not for long": async () => {
    expectAnswer(streams);
    onStreamMessage(streams);
    const rest = awaitStreams(0);
    equal([rest > 0, rest <= 50], [true, true]);
  },
  "a stream that is used all the time does not hold the page all the time": async () => {
    for (let times = 0; times < 12; times++) {
      expectAnswer(streams);
      await sleep(100);
    }
    equal(awaitStreams(0) > 0, false);
  },
  "after a request every open stream may answer, once": () => {
    const stream = {};
    streams.open.add(stream);
    equal(awaitStreams(1) > 100, true);
    endStreams();
    equal(awaitStreams(1), 0);
    closeStream(stream);
    equal(awaitStreams(2), 0);
  },
  "a message that was not expected holds nothing": () => {
    onStreamMessage({});
    equal(awaitStreams(0), 0);
  },
};
