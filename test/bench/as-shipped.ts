// Packages check less of what they are given in production, as Berth ships them; this is imported before any of them.
process.env['NODE_ENV'] = 'production'
