"""placeholder while tuning"""
import numpy as np
def auc(y,p):
    from scipy.stats import rankdata
    r=rankdata(p);n1=(y>0).sum();n0=len(y)-n1
    return float((r[y>0].sum()-n1*(n1+1)/2)/(n1*n0))
def binary_log_loss(y,p):
    return float(-np.mean(np.where(y>0,np.log(p),np.log1p(-p))))
