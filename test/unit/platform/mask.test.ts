import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMask } from '#platform/mask.ts'
import { cover } from '#shared/text.ts'

const mask = createMask()

const letters = (alphabet: string, least: number, most: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: least, maxLength: most }).map(all => all.join(''))
const hex = letters('0123456789abcdef', 40, 64).filter(text => /[a-f]/.test(text) && /\d/.test(text))
const base64url = letters('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', 32, 64).filter(
  text => /\d/.test(text) && /[A-Za-z]/.test(text),
)
const word = letters('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 8, 24)
const base64 = letters('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', 64, 300)
const around = fc.constantFrom('', ' ', 'GET ', 'failed: ', '{"a": 1, ', '\n', '(')

/** By kind of secret: a text with it, and the part that must be masked. */
const met: Record<string, fc.Arbitrary<{ text: string; secret: string }>> = {
  'an API key anywhere': fc
    .tuple(around, hex)
    .map(([before, secret]) => ({ text: `${before}${secret} is wrong`, secret })),
  'an Authorization header': fc
    .tuple(word, fc.constantFrom('Bearer ', 'Basic ', 'token ', ''), fc.constantFrom(': ', '=', '": "'))
    .map(([secret, scheme, sign]) => ({ text: `authorization${sign}${scheme}${secret}`, secret })),
  'a header as JSON in JSON': word.map(secret => ({
    text: JSON.stringify({ body: JSON.stringify({ Authorization: `Bearer ${secret}`, next: 1 }) }),
    secret,
  })),
  'a lone bearer': word.map(secret => ({ text: `curl -H Bearer ${secret}`, secret })),
  'Berth’s page token': base64url.map(secret => ({
    text: `Berth is ready at http://127.0.0.1:4711/#${secret}`,
    secret,
  })),
  'a Jupyter token in an address': word.map(secret => ({
    text: `opened http://localhost:8888/lab?reset&token=${secret}&x=1`,
    secret,
  })),
  'a user in an address': word.map(secret => ({ text: `https://me:${secret}@registry.example/v2/`, secret })),
  'a private key': fc
    .tuple(base64, fc.constantFrom('OPENSSH ', 'RSA ', 'EC ', ''), fc.boolean())
    .map(([secret, kind, whole]) => ({
      text: `-----BEGIN ${kind}PRIVATE KEY-----\n${secret}\n${whole ? `-----END ${kind}PRIVATE KEY-----` : ''}`,
      secret,
    })),
  'a variable of Docker’s': fc
    .tuple(word, fc.constantFrom('-e ', '--env ', '--env='), fc.constantFrom('run ', '', 'so:\n', '"env": "'))
    .map(([secret, flag, before]) => ({ text: `${before}${flag}WHATEVER=${secret} -p 80:80`, secret })),
  'an environment': fc
    .tuple(word, fc.constantFrom('', '}', ']', '"', '\\', '", "', ']]'), fc.boolean(), fc.boolean())
    .map(([secret, sign, pairs, within]) => {
      const value = `a${sign}${secret}`
      const env = pairs
        ? {
            extra_env: [
              ['A', 'b'],
              ['WHATEVER', value],
            ],
          }
        : { env: { A: 'b', WHATEVER: value } }
      const text = JSON.stringify({ id: 1, ...env, after: 2 })
      return { text: within ? JSON.stringify({ body: text }) : text, secret }
    }),
  'an environment that was cut off': word.map(secret => ({
    text: JSON.stringify({ extra_env: [['WHATEVER', secret]] }).slice(0, -4),
    secret,
  })),
  'backup codes': fc
    .tuple(
      letters('ABCDEFGHJKMNPQRSTVWXYZ0123456789', 4, 4),
      fc.constantFrom('{"backup_codes":["XXXX-XXXX-1234","', 'entered ', '{"backup_code":"'),
    )
    .map(([group, before]) => ({
      text: `${before}${group}-${group}-${group}"`,
      secret: `${group}-${group}-${group}`,
    })),
  'a field that says so': fc
    .tuple(
      word,
      fc.constantFrom(...'jupyter_token api_key apiKey password tfa_secret HF_TOKEN private-key'.split(' ')),
    )
    .map(([secret, name]) => ({ text: `${name}=${secret}, then`, secret })),
  'a field in JSON': fc
    .tuple(
      fc.string({ minLength: 6, maxLength: 30 }).filter(text => !/^[\s\d.,"\\]*$/.test(text)),
      fc.constantFrom('token', 'password', 'secret'),
    )
    .map(([secret, name]) => ({
      text: JSON.stringify({ [name]: secret, n: 1 }),
      secret: JSON.stringify(secret).slice(1, -1),
    })),
  'a token with a sign of its service': fc
    .tuple(word, fc.constantFrom('ghp_', 'hf_', 'sk-', 'npm_'))
    .map(([rest, sign]) => ({ text: `uses ${sign}${rest}A1 for it`, secret: rest })),
}

test.each(Object.entries(met))('%s is covered, whatever it is', (_kind, cases) => {
  fc.assert(
    fc.property(cases, ({ text, secret }) => {
      fc.pre(!text.replace(secret, '').includes(secret))
      expect(mask(text)).not.toContain(secret)
      expect(mask(text)).toContain(cover)
    }),
    { numRuns: 300 },
  )
})

test('masking an environment keeps the text after it', () => {
  const text = JSON.stringify({ extra_env: [['DB_PASS', 'hunter2']], gpu_name: 'RTX 4090' })
  expect(mask(text)).toBe(`{"extra_env":${cover},"gpu_name":"RTX 4090"}`)
  expect(mask(JSON.stringify({ env: { A: '}b' }, n: 1 }))).toBe(`{"env":${cover},"n":1}`)
})

test('known secrets are masked everywhere, also in URLs and JSON', () => {
  const secrets = fc.string({ minLength: 6, maxLength: 40 }).filter(text => text.trim().length >= 6)
  fc.assert(
    fc.property(secrets, secrets, (secret, other) => {
      const knowing = createMask()
      knowing.learn(secret)
      knowing.learn(JSON.stringify({ OTHER: other }))
      for (const one of [secret, other]) {
        const forms = [one, encodeURIComponent(one), JSON.stringify(one).slice(1, -1)]
        for (const form of forms)
          expect(knowing(`a ${form} b`)).toBe(knowing(`a ${form} b`).replaceAll(form, ''))
      }
    }),
    { numRuns: 300 },
  )
})

test('masking twice equals masking once', () => {
  fc.assert(
    fc.property(fc.oneof(...Object.values(met)), ({ text }) => {
      expect(mask(mask(text))).toBe(mask(text))
    }),
    { numRuns: 500 },
  )
})

test('lines without secrets stay unchanged', () => {
  for (const line of [
    'rent failed unexpectedly: TypeError at run (/opt/Berth/resources/app.asar/dist/main/main.js:4711:12)',
    'instance 4711: loading, then running after 31.5 s at $0.312/h',
    'refused: navigation to https://example.com/some/long/path-with-dashes/and/more/of/it',
    'Berth 0.1.0 on linux 6.1.0-18-amd64, Node 22.20.0',
    'notifications: org.freedesktop.DBus.Error.ServiceUnknown',
    'the two-factor code was wrong: 3 tries are left',
  ])
    expect(mask(line)).toBe(line)
})
