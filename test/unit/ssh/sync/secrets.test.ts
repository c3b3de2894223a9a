import { expect, test } from 'vitest'
import { looksSecret } from '../../../../electron/ssh/sync/secrets.ts'

test.each([
  '.env',
  '.env.local',
  'prod.env',
  'Server.PEM',
  'id_rsa',
  'id_work',
  'id_ed25519.old',
  'tls.key',
  'credentials',
  'kaggle.json',
  '.netrc',
])('%s looks like a secret', name => expect(looksSecret(name)).toBe(true))

test.each([
  '.env.example',
  'id_rsa.pub',
  'id_map.json',
  'environment.yml',
  'keyboard.py',
  'monkey',
  'train.py',
])('%s does not look like a secret', name => expect(looksSecret(name)).toBe(false))
