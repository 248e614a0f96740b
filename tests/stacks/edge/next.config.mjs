// Each of the two builds has its own folder; the second reuses what the first compiled.
export default { distDir: process.env.BUILT, experimental: { turbopackFileSystemCacheForBuild: true } };
