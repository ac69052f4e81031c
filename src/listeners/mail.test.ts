import { expect, it } from 'vitest';
import { itemOfMail, MailStart, textOfHtml } from './mail.ts';

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
