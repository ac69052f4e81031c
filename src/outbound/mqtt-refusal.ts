/** The error of a request that an MQTT 5 broker refuses. */

/** Far more than a record holds: callers mask secrets before they cut it, and would not know the beginning of one. */
const wordsChars = 2_000;

/** A reason code of 128 or above, with the broker's own text if it sent one. */
export class MqttRefusal extends Error {
  readonly code: number;

  constructor(what: string, code: number, words: string | undefined) {
    super(
      `${what}: ${reasons[code] ?? `reason code ${code}`}${words ? ` (${words.slice(0, wordsChars)})` : ''}`,
    );
    this.name = 'MqttRefusal';
    this.code = code;
  }
}

/** https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901031 */
const reasons: Readonly<Record<number, string>> = {
  1: 'the broker does not speak MQTT 5',
  131: 'refused by a rule of the broker',
  132: 'the broker does not speak MQTT 5',
  133: 'the client id is not allowed',
  134: 'user name or password is wrong',
  135: 'not authorized',
  136: 'the broker is not available',
  137: 'the broker is busy',
  138: 'banned',
  142: 'another client connected with the same client id',
  144: 'the topic is not allowed',
  143: 'the topic filter is not allowed',
  149: 'the message is too large',
  151: 'a quota is exceeded',
  153: 'the payload has the wrong format',
  158: 'the broker has no shared subscriptions',
  162: 'the broker has no wildcards',
};
