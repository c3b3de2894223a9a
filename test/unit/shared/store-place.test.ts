import { expect, test } from 'vitest'
import { keyVariables } from '#shared/project/store-place.ts'

test('a server’s login is in its address, whatever characters it has', () => {
  const text = keyVariables('rest:https://nas.example:8000/backups/', 'me@home:p#ss/w:rd ')
  expect(text).toBe('RESTIC_REPOSITORY=rest:https://me%40home:p%23ss%2Fw%3Ard@nas.example:8000/backups/')
  const { username, password } = new URL(text.replace(/^.*rest:/, ''))
  expect([username, password].map(decodeURIComponent)).toEqual(['me@home', 'p#ss/w:rd'])
})

test('a bucket’s key becomes two variables', () => {
  expect(keyVariables('s3:https://s3.example/bucket', 'ID:SE:CRET')).toBe(
    'AWS_ACCESS_KEY_ID=ID\nAWS_SECRET_ACCESS_KEY=SE:CRET',
  )
})
