"""Data sets from elsewhere."""

import bz2
import os
import shutil
import urllib.request

from rarefy._atomic import replacing


def get_bz2_data(data_dir: str, data_name: str, url: str, data_origin_name: str) -> None:
    """Fetches a compressed file and unpacks it; what is there already is not fetched again.

    Args:
      data_dir: the folder; it is made.
      data_name: the file in it that the content is written to.
      url: where the compressed file is.
      data_origin_name: the compressed file in the folder, which is removed after unpacking.

    Raises:
      OSError: the url cannot be reached, or what it gives is not bz2. No half file is left.
    """
    data, origin = (os.path.join(data_dir, name) for name in (data_name, data_origin_name))
    if os.path.exists(data):
        return
    os.makedirs(data_dir, exist_ok=True)
    fetched = not os.path.exists(origin)
    if fetched:
        with urllib.request.urlopen(url) as source, replacing(origin) as file:
            shutil.copyfileobj(source, file)
    try:
        with bz2.open(origin) as packed, replacing(data) as file:
            shutil.copyfileobj(packed, file)
    except OSError:
        if fetched:
            os.remove(origin)
        raise
    os.remove(origin)
