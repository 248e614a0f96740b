// Every page of a site on Next.js, for tests.

export function getServerSideProps({ resolvedUrl, res }) {
  res.setHeader("set-cookie", "basket=1");
  res.end(`the site, at ${resolvedUrl}\n`);
  return { props: {} };
}

export default function Page() {
  return null;
}
