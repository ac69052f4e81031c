import { expect, it, test } from 'vitest';
import { labelsText } from '#contract/history/labels.ts';
import { fieldsOf, parseLevelMap } from '#integrations/format.ts';
import { decodeEntities, itemOfMail, MailStart, textOfHtml } from './mail.ts';

const startOf = (text: string) => {
  const start = new MailStart();
  for (let at = 0; at < text.length; at += 60_000) start.push(Buffer.from(text.slice(at, at + 60_000)));
  return start.bytes;
};

it('is read from its beginning only, however many bytes, lines and parts it has', async () => {
  const plain = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nfirst\r\n';
  for (const rest of ['x'.repeat(5_000_000), 'x\n'.repeat(1_000_000), '--b\n\nx\n'.repeat(100_000)]) {
    const bytes = startOf(`Subject: Disk\r\n${plain}${rest}`);
    expect(bytes.length).toBeLessThanOrEqual(256 * 1024);
    expect(String(bytes).split('\n').length).toBeLessThanOrEqual(5_001);
    const item = await itemOfMail(bytes);
    expect(item).toMatchObject({ title: 'Disk', message: expect.stringMatching(/^first/) });
  }
});

it('gives the text of HTML', () => {
  const html =
    '<HEAD><title>no</title></HEAD><style>p > a {}</STYLE ><p class="a">1 &lt; 2<br/>b</p>\n\n\n<script>x</script>c &amp; d';
  expect(textOfHtml(html)).toBe('1 < 2\nb\n\nc & d');
  expect(textOfHtml('<style>never closed<p>a</p>b < c')).toBe('never closeda\nb < c');
});

it('reads the character references and the table cells of HTML', () => {
  expect(
    textOfHtml('21&nbsp;&deg;C &#8211; T&uuml;r &#x26a0; &quot;auf&quot; &apos;&#39; &euro;&hellip;'),
  ).toBe('21 °C – Tür ⚠ "auf" \'\' €…');
  expect(textOfHtml('&amp;lt; &nosuch; &#0; &#1114112; &deg')).toBe('&lt; &nosuch; &#0; &#1114112; &deg');
  expect(
    textOfHtml('<table><tr><th>UPS</th><td>on battery</td></tr><tr><th>Load</th><td>40 %</td></tr></table>'),
  ).toBe('UPS on battery\nLoad 40 %');
});

it('takes time in proportion to the length of HTML', () => {
  for (const part of ['<', '<br ', '<style>', '</style', '<style></style', '<!--', '\n \r', '&amp;'])
    textOfHtml(part.repeat(200_000 / part.length));
});

it('reads the text of a forwarded mail, and not what is nested in it any deeper', async () => {
  const forwarding = (times: number) =>
    Buffer.from(
      `Subject: Fwd\r\n${'Content-Type: message/rfc822\r\n\r\n'.repeat(times)}Subject: inner\r\n\r\nthe text`,
    );
  expect((await itemOfMail(forwarding(1))).message).toContain('the text');
  for (const times of [3, 2_400]) expect((await itemOfMail(forwarding(times))).message).toBe('');
});

const item = (lines: readonly string[], encoding: BufferEncoding = 'utf8') =>
  itemOfMail(Buffer.from(lines.join('\r\n'), encoding));

it('has labels in the header X-Labels, which cannot lose the mail', async () => {
  const labelsIn = async (...lines: string[]) =>
    fieldsOf(await item([...lines, '', 'text']), parseLevelMap([])).labels;
  expect(await labelsIn('X-Labels: env=prod, site=plant 2,', ' a b=1, backup, env=test, =x')).toBe(
    labelsText({ env: 'prod', site: 'plant 2', a_b: '1', backup: '' }),
  );
  expect(await labelsIn('X-Labels: =?utf-8?Q?site=3DZ=C3=BCrich?=')).toBe(labelsText({ site: 'Zürich' }));
  expect(await labelsIn('Subject: x')).toBeNull();
});

it('without an empty line begins its text at the first line that is no header', async () => {
  const head = ['From: a@example.net', 'Subject: RING ALERT', 'X-Mailer: ring-sqa'];
  expect(await item([...head, '10 nodes unreachable since 14:00', 'node01: 12 -> 48'])).toMatchObject({
    title: 'RING ALERT',
    message: '10 nodes unreachable since 14:00\nnode01: 12 -> 48',
  });
  expect(await item([...head, '10 nodes unreachable', '', 'more'])).toMatchObject({
    message: expect.stringMatching(/^10 nodes unreachable\s+more$/),
  });
  expect(await item(['UPS on battery'])).toMatchObject({ title: 'Email', message: 'UPS on battery' });
  const broken = ['Received from x', 'Subject: s', 'Content-Transfer-Encoding: base64', '', 'aGk='];
  expect(await item(broken)).toMatchObject({ title: 's', message: 'hi' });
});

it.each([
  ['a calendar', ['Content-Type: text/calendar; method=REQUEST', '', 'BEGIN:VCALENDAR'], /BEGIN:VCALENDAR/],
  [
    'a wrong boundary',
    ['Content-Type: multipart/mixed; boundary=a', '', '--b', '', 'hello', '--b--'],
    /hello/,
  ],
  ['the type "text"', ['Content-Type: text', '', 'hello'], /^hello$/],
  [
    'a text as an attachment',
    [
      'Content-Type: text/plain',
      'Content-Disposition: attachment',
      'Content-Transfer-Encoding: base64',
      '',
      'aGk=',
    ],
    /^hi$/,
  ],
  [
    'parts that are too deep',
    [
      'Content-Type: multipart/mixed; boundary=b0',
      '',
      ...Array.from({ length: 30 }, (_, i) => [
        `--b${i}`,
        `Content-Type: multipart/mixed; boundary=b${i + 1}`,
        '',
      ]).flat(),
      'deep',
    ],
    /deep/,
  ],
  ['a header that is too long', [`X-Long: ${'x'.repeat(70_000)}`, '', 'hello'], /hello/],
])('with %s keeps its text', async (_, lines, message) => {
  expect(await item(['Subject: s', ...lines])).toMatchObject({
    title: 's',
    message: expect.stringMatching(message),
  });
});

it('of pictures alone has no text', async () => {
  const picture = ['Content-Type: image/png', 'Content-Transfer-Encoding: base64', '', 'aGk='];
  expect(await item(['Subject: Motion', ...picture])).toMatchObject({ title: 'Motion', message: '' });
});

it('reads headers in raw bytes by their charset, or as Latin-1', async () => {
  const mail = ['From: NAS <nas@example.org>', 'Subject: Festplatte voll: Ger\u00e4t', '', 'St\u00f6rung'];
  const expected = { title: 'Festplatte voll: Ger\u00e4t', message: 'St\u00f6rung' };
  expect(await item(mail, 'latin1')).toMatchObject(expected);
  expect(await item(mail)).toMatchObject(expected);
  const greek = ['Content-Type: text/plain; charset=iso-8859-7', 'Subject: \xc1', '', '\xc1'];
  expect(await item(greek, 'latin1')).toMatchObject({ title: '\u0391', message: '\u0391' });
});

it('reads each part by its own charset, or as UTF-8 or Windows-1252', async () => {
  const mixed = (...parts: readonly (readonly string[])[]) =>
    item(
      [
        'Content-Type: multipart/mixed; boundary="a b"',
        '',
        ...parts.flatMap((lines) => ['--a b', ...lines]),
        '--a b--',
      ],
      'latin1',
    );
  const plain = 'Content-Type: text/plain';
  const greek = [`${plain}; charset=iso-8859-7`, '', '\xc1', '-- ', '\xc1'];
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');
  const { message } = await mixed([plain, '', 'T\xfcr'], greek, [plain, '', utf8('\u26a0')], ['', '\x80']);
  expect(message?.split('\n').filter((line) => line !== '')).toEqual([
    'T\u00fcr',
    '\u0391',
    '-- ',
    '\u0391',
    '\u26a0',
    '\u20ac',
  ]);
  const inner = ['Content-Type: multipart/alternative; boundary=c', '', '--c', '', 'T\xfcr', '--c--'];
  expect((await mixed(inner, greek)).message).toMatch(/^T\u00fcr\s+\u0391/);
});

it('has no id where the message has an empty one', async () => {
  expect((await item(['Message-ID: <>', '', 'x'])).identity).toBeUndefined();
  expect((await item(['Message-ID: <a@b>', '', 'x'])).identity).toBe('<a@b>');
});

it('in HTML has its quotes, and its cells separated', async () => {
  const html =
    '<p>Can&#39;t reach &quot;db-01&quot;</p><table><tr><th>Success</th><th>Warning</th></tr><tr><td>1</td><td>0</td></tr></table>&Omega;&rArr;&omega;';
  expect(await item(['Content-Type: text/html; charset=utf-8', '', html])).toMatchObject({
    message: 'Can\'t reach "db-01"\nSuccess Warning\n1 0\n\u03a9\u21d2\u03c9',
  });
});

test('references are read as HTML reads them: numbers from 128 to 159 are of Windows', () => {
  expect(decodeEntities('it&#146;s &#150; 5&deg; &#x41;&amp;&#8211; &unknown; &#0;')).toBe(
    'it’s – 5° A&– &unknown; &#0;',
  );
});
